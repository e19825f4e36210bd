"""Data parallel replicas of an expert model on a processor, for vLLM.

Loaded by vLLM in every process (entry point `vllm.general_plugins`). The replicas exchange their tokens before and
after the experts, each a number of its own, and the communicator of the CPU build has no collectives for that (0.32.0:
`NotImplementedError: all_gatherv`). A build that has them is left alone.
"""


def register():
    import torch
    import torch.distributed as dist
    from vllm.distributed.device_communicators.cpu_communicator import CpuCommunicator

    if "all_gatherv" in vars(CpuCommunicator):
        return

    def rows_of(self, count, sizes):
        return list(sizes) if sizes is not None else [count] * self.world_size

    def gather(self, own, sizes):
        pieces = []
        for rank, rows in enumerate(rows_of(self, own.shape[0], sizes)):
            mine = rank == self.rank_in_group
            piece = own.contiguous() if mine else torch.empty((rows, *own.shape[1:]), dtype=own.dtype)
            dist.broadcast(piece, src=self.ranks[rank], group=self.device_group)
            pieces.append(piece)
        return torch.cat(pieces)

    def all_gatherv(self, input_, dim=0, sizes=None):
        if dim != 0:
            raise NotImplementedError(f"all_gatherv over dimension {dim}")
        if isinstance(input_, torch.Tensor):
            return gather(self, input_, sizes)
        return [gather(self, tensor, sizes) for tensor in input_]

    def reduce_scatterv(self, input_, dim=0, sizes=None):
        if dim != 0:
            raise NotImplementedError(f"reduce_scatterv over dimension {dim}")
        pieces = input_.contiguous().split(rows_of(self, input_.shape[0] // self.world_size, sizes))
        sums = [piece.clone() for piece in pieces]
        for rank, piece in enumerate(sums):
            dist.reduce(piece, dst=self.ranks[rank], group=self.device_group)
        return sums[self.rank_in_group]

    CpuCommunicator.all_gatherv = all_gatherv
    CpuCommunicator.reduce_scatterv = reduce_scatterv
