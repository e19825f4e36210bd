#!/usr/bin/env bash
set -euo pipefail

if [ "${GPU:-0}" = 1 ]; then
  nvidia-ctk runtime configure --runtime=docker
  systemctl restart docker

  cat > /usr/local/bin/sglang-env <<'EOS'
#!/usr/bin/env bash
set -euo pipefail
meta() {
  curl -fsSL -H "Metadata-Flavor: Google" \
    "http://metadata.internal/computeMetadata/v1/instance/attributes/$1" 2>/dev/null || true
}
model="$(meta sglang-model)"
if [ -z "$model" ]; then
  echo "sglang-model is empty" >&2
  exit 1
fi
served="$(meta sglang-served-name)"
tp="$(meta sglang-tp)"
ctx="$(meta sglang-context-length)"
rparser="$(meta sglang-reasoning-parser)"
tparser="$(meta sglang-tool-call-parser)"
image="$(meta sglang-image)"

extra=()
[ -n "$served" ] && extra+=(--served-model-name "$served")
[ -n "$ctx" ] && extra+=(--context-length "$ctx")
[ -n "$rparser" ] && extra+=(--reasoning-parser "$rparser")
[ -n "$tparser" ] && extra+=(--tool-call-parser "$tparser")

umask 0077
mkdir -p /run/sglang /var/cache/huggingface
cat > /run/sglang/env <<EOT
SGLANG_IMAGE=${image:-lmsysorg/sglang:v0.5.20}
MODEL=${model}
TP=${tp:-1}
EXTRA_ARGS=${extra[*]:-}
EOT
EOS
  chmod 0755 /usr/local/bin/sglang-env

  cat > /etc/systemd/system/sglang.service <<'EOS'
[Unit]
Description=SGLang
After=docker.service network-online.target
Requires=docker.service

[Service]
Type=simple
RuntimeDirectory=sglang
RuntimeDirectoryMode=0700
ExecStartPre=/usr/local/bin/sglang-env
ExecStartPre=-/usr/bin/docker rm -f sglang
EnvironmentFile=-/run/sglang/env
ExecStart=/usr/bin/docker run --rm --name sglang --gpus all --shm-size 16g \
  -p 127.0.0.1:8000:8000 -v /var/cache/huggingface:/data/cache/huggingface \
  -e HF_TOKEN ${SGLANG_IMAGE} python3 -m sglang.launch_server \
  --model-path ${MODEL} --tp ${TP} --enable-cache-report \
  --disable-prefill-cuda-graph --host 0.0.0.0 --port 8000 $EXTRA_ARGS
ExecStop=-/usr/bin/docker stop sglang
Restart=on-failure
RestartSec=10

[Install]
WantedBy=multi-user.target
EOS

  systemctl daemon-reload
  systemctl enable sglang.service
  systemctl start --no-block sglang.service
fi
