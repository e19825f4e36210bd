#!/bin/bash

GREEN='\033[0;32m'
RED='\033[0;31m'
NC='\033[0m'

wait_for_service() {
    local url=$1
    local service_name=$2
    local max_attempts=30
    local attempt=1

    while [ $attempt -le $max_attempts ]; do
        if curl -s "$url" >/dev/null 2>&1; then
            echo -e "${GREEN}$service_name is there${NC}"
            return 0
        fi
        sleep 5
        attempt=$((attempt + 1))
    done

    echo -e "${RED}$service_name did not come after $max_attempts tries${NC}"
    return 1
}

cd /app && python3 -c "
import chromadb
client = chromadb.PersistentClient(path='/app/data/vector_db')
" &

python3 -m vllm.entrypoints.openai.api_server \
    --model moonshotai/Kimi-K2-Instruct \
    --host 0.0.0.0 \
    --port 8000 \
    --tensor-parallel-size 1 \
    --gpu-memory-utilization 0.7 \
    --max-model-len 4096 \
    --served-model-name kimi-k2 &

wait_for_service "http://localhost:8000/health" "vLLM API Server"

cd /app && python3 main.py &

wait_for_service "http://localhost:8888/health" "Main API Server"

code-server \
    --bind-addr 0.0.0.0:8080 \
    --auth none \
    --disable-telemetry \
    --disable-update-check \
    /app/data/projects &

wait_for_service "http://localhost:8080" "VS Code Server"

wait
