#!/bin/zsh
emulate -L zsh

typeset -A MODEL
MODEL=(
    KK1  ~/llama.cpp/models/models--unsloth--Kimi-K2-Instruct-GGUF/UD-Q3_K_XL/Kimi-K2-Instruct-UD-Q3_K_XL-00001-of-00010.gguf
    DS3  ~/llama.cpp/models/models--unsloth--DeepSeek-V3.1-GGUF/Q4_K_M/DeepSeek-V3.1-Q4_K_M-00001-of-00009.gguf
    KK2  ~/llama.cpp/models/Kimi-K2-Instruct-0905-UD-Q3_K_XL/UD-Q3_K_XL/Kimi-K2-Instruct-0905-UD-Q3_K_XL-00001-of-00010.gguf
    GPT  ~/llama.cpp/models/gguf/gpt-oss-120B.gguf
    GGU  ~/llama.cpp/models/7B/ggml-model-q4_0.gguf
)

[[ -z $1 ]] && { printf "Usage: $0 <alias>  [extra-opts...]\nAliases: ${(k)MODEL}\n"; exit 1; }
[[ -z ${MODEL[$1]} ]] && { printf "no alias '$1', only: ${(k)MODEL}\n"; exit 1; }
[[ -x ./build/bin/llama-server ]] || { echo "llama-server not found in ./build/bin"; exit 1; }

ALIAS=$1
MODEL_PATH=${MODEL[$ALIAS]}
LOG_FILE=$LOG_DIR/${ALIAS:t:r}-$(date +%Y%m%d-%H%M%S).log   # $ALIAS, as $1 goes
echo "LOG_FILE=$LOG_FILE"
shift

DEF_OPTS=(                   # an array
  --parallel 4
  -ngl 99
  --no-warmup
  --host 0.0.0.0
  --port 3000
)
LOG_DIR=~/llama-logs
mkdir -p $LOG_DIR

./build/bin/llama-server \
    -m "$MODEL_PATH" \
    $DEF_OPTS \
    --log-file "$LOG_FILE" \
    "$@"          # what is added comes last

# as in:
#   llama KK2 -ngl 80 --port 3030
