#!/bin/bash
echo "Local Kimi K2.5..."

mkdir -p models logs downloads

pip3 install huggingface_hub hf_transfer

if [ ! -d "llama.cpp" ]; then
    git clone https://github.com/ggml-org/llama.cpp
    cd llama.cpp

    if command -v nvidia-smi &> /dev/null; then
        cmake llama.cpp -B llama.cpp/build \
         -DBUILD_SHARED_LIBS=OFF -DGGML_CUDA=ON -DLLAMA_CURL=ON
    else
        cmake llama.cpp -B llama.cpp/build \
         -DBUILD_SHARED_LIBS=OFF -DGGML_CUDA=OFF -DLLAMA_CURL=ON
    fi

    cmake --build llama.cpp/build --config Release -j --clean-first --target llama-cli llama-gguf-split
    cp llama.cpp/build/bin/llama-* llama.cpp 2>/dev/null || echo "some are missing"
    cd ..
else
    echo "llama.cpp is there"
fi

echo ""
echo "To fetch Kimi K2.5:"
echo "  python3 download_model.py"
echo ""
echo "To run Kimi K2.5:"
echo "  ./llama.cpp/llama-cli \\"
echo "   -hf unsloth/Kimi-K2-Thinking-GGUF:UD-TQ1_0 \\"
echo "   --n-gpu-layers 99 \\"
echo "   --temp 1.0 \\"
echo "   --min-p 0.01 \\"
echo "   --ctx-size 16384 \\"
echo "   --seed 3407 \\"
echo "   -ot \".ffn_.*_exps.=CPU\""
echo ""
echo "As a server:"
echo "  ./llama.cpp/llama-server \\"
echo "   --model path/to/model.gguf \\"
echo "   --alias \"kimi-k25-local\" \\"
echo "   --n-gpu-layers 999 \\"
echo "   -ot \".ffn_.*_exps.=CPU\" \\"
echo "   --min_p 0.01 \\"
echo "   --ctx-size 16384 \\"
echo "   --port 8000 \\"
echo "   --jinja"
