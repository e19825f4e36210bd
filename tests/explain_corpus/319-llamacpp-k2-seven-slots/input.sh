# starts K2-0905 in UD-Q3_K_XL, to type less
# from within llama.cpp

#!/bin/bash
MODEL_PATH="/Users/me/llama.cpp/models/Kimi-K2-Instruct-0905-UD-Q3_K_XL/UD-Q3_K_XL/Kimi-K2-Instruct-0905-UD-Q3_K_XL-00001-of-00010.gguf"

./build/bin/llama-server \
  -m "$MODEL_PATH" \
  -c 229376 \
  -ngl 99 \
  --parallel 7 \
  --no-warmup \
  --host 0.0.0.0 \
  --port 3000 \
  --log-file "KK2_0905_log_6"
