#!/bin/bash
#SBATCH --job-name=kimi-k2
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
#SBATCH --mem=250G
#SBATCH --gres=gpu:8
#SBATCH --partition=defq
#SBATCH --container-image=/home/me/vllm-image+latest.sqsh
#SBATCH --container-mounts=/home/me:/home/me
#SBATCH --no-container-entrypoint
#SBATCH --output=/home/me/kimi-%j.out

nodes=$(scontrol show hostnames "$SLURM_JOB_NODELIST")
nodes_array=($nodes)
head_node=${nodes_array[0]}
worker_node=${nodes_array[1]}
head_node_ip=$(srun --nodes=1 --ntasks=1 -w "$head_node" hostname --ip-address)

# head
srun --nodes=1 --ntasks=1 -w "$head_node" \
  --container-image=/home/me/vllm-image+latest.sqsh \
  --container-mounts=/home/me:/home/me \
  --no-container-entrypoint \
  /bin/bash -c "pip install ray 2>/dev/null && ray start --head --port=6379 --block" &

sleep 15

# worker
srun --nodes=1 --ntasks=1 -w "$worker_node" \
  --container-image=/home/me/vllm-image+latest.sqsh \
  --container-mounts=/home/me:/home/me \
  --no-container-entrypoint \
  /bin/bash -c "pip install ray 2>/dev/null && ray start --address=${head_node_ip}:6379 --block" &

sleep 15

# notebook
srun --nodes=1 --ntasks=1 -w "$head_node" \
  --container-image=/home/me/vllm-image+latest.sqsh \
  --container-mounts=/home/me:/home/me \
  --no-container-entrypoint \
  /bin/bash -c "
    pip install ray 2>/dev/null
    export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
    JUPYTER_PORT=\$(seq 40000 50000 | shuf | head -n 1)
    echo \"port \$JUPYTER_PORT on \$(hostname)\"
    jupyter notebook --ip=0.0.0.0 --port=\$JUPYTER_PORT --no-browser --allow-root --notebook-dir=/home/me
  "

wait
