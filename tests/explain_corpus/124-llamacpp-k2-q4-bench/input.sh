# two EPYC 9355, one RTX PRO 6000, 736 GB of RAM
./build/bin/llama-batched-bench \
    --model /data/Kimi-K2-Instruct-GGUF/UD-Q4_K_XL/Kimi-K2-Instruct-UD-Q4_K_XL-00001-of-00013.gguf \
    --numa numactl \
    --threads 32 \
    --ctx-size 131072 \
    --n-gpu-layers 62 \
    -ot "blk\.(3|4|5|6|7|8)\.ffn_.*=CUDA0" \
    -ot exps=CPU \
    -ub 4096 -b 4096 \
    --seed 3407 \
    --temp 0.6 \
    --min-p 0.01 \
    --flash-attn \
    -npp 4096 \
    -ntg 1024 \
    -npl 1
