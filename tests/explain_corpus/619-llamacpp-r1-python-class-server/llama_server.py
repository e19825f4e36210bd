import os
import subprocess


class LlamaServer:
    def __init__(
        self,
        model_path="/mnt/data/gguf/DeepSeek-R1-Q4_K_M.gguf",
        server_path=None,
        port=8088,
        seed=0,
        ctx_size=1024,
        override_tensor="exps=CPU",
        n_gpu_layers=999,
        enable_metrics=True,
        enable_slots=True,
    ):
        """one llama-server as a child process"""
        self.model_path = model_path
        self.port = str(port)
        self.seed = str(seed)
        self.ctx_size = str(ctx_size)
        self.override_tensor = override_tensor
        self.n_gpu_layers = str(n_gpu_layers)
        self.enable_metrics = enable_metrics
        self.enable_slots = enable_slots

        if server_path is None:
            here = os.path.dirname(os.path.realpath(__file__))
            self.server_path = os.path.join(here, "../../llama.cpp/build/bin/llama-server")
        else:
            self.server_path = server_path

        self.process = None

    def build_command(self):
        # fmt: off
        cmd = [
            self.server_path,
            "--model", self.model_path,
            "--port", self.port,
            "--seed", self.seed,
            "--override-tensor", self.override_tensor,
            "--n-gpu-layers", self.n_gpu_layers,
            "--ctx-size", self.ctx_size,
        ]
        # fmt: on
        if self.enable_metrics:
            cmd.append("--metrics")
        if self.enable_slots:
            cmd.append("--slots")
        return cmd

    def start(self, log_file="llama-server.log"):
        if self.process:
            raise RuntimeError("it runs")
        logfile = open(log_file, "w")
        self.process = subprocess.Popen(self.build_command(), stdout=logfile, stderr=logfile)

    def __enter__(self):
        self.start(log_file="llama-server.log")
        return self
