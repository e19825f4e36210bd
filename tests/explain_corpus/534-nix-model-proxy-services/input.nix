{ config, lib, pkgs, ... }:
let
  inherit (lib) concatStringsSep optional optionals;

  gpuUuid = "00000000-0000-0000-0000-000000000000";
  cores = "0-31";

  llamaCppService = service:
    let
      gpu = service.gpu or true;
      localPort = 18000 + service.index;
    in {
      Name = service.name;
      ListenPort = toString service.port;
      ProxyTargetHost = "10.89.0.${toString (10 + service.index)}";
      ProxyTargetPort = toString localPort;
      Command = "/run/current-system/sw/bin/docker";
      Args = concatStringsSep " " ([
        "run" "--rm" "--read-only"
        "--name=${service.name}"
        "--network=lmp-network"
        "--ip=10.89.0.${toString (10 + service.index)}"
      ] ++ optional gpu "--device=nvidia.com/gpu=GPU-${gpuUuid}" ++ [
        "--cap-add IPC_LOCK"
        "--cpuset-cpus ${cores}"
        "-v /storage/llama.cpp:/data/cache/llama.cpp"
        "ghcr.io/ggml-org/llama.cpp:${if gpu then "server-cuda" else "server"}"
        "--port ${toString localPort}"
        "--threads 32"
        "--threads-batch 32"
        "-hf ${service.model}"
        "--jinja"
      ] ++ (service.extraLlamaCppArgs or []) ++ [
        "--batch-size 8192"
        "--ubatch-size 2048"
        "--ctx-size ${toString (service.contextSize or 0)}"
        "--parallel 1"
        "-kvu"
        "--cache-type-k q8_0"
        "--cache-type-v q8_0"
        "--flash-attn on"
        "--slot-save-path /data/cache/llama.cpp/prompt-cache"
        "--mlock"
      ]);
      ResourceRequirements = { RAM = service.ram; } // (if gpu then { "VRAM-1" = service.vram or 24; } else {});
      ShutDownAfterInactivitySeconds = 3600;
    };
in {
  services.large-model-proxy = {
    enable = true;
    settings = {
      OpenAiApi.ListenPort = "7070";
      ResourcesAvailable = { "VRAM-1" = 24; RAM = 448; };
      Services = map llamaCppService [
        {
          name = "kimi-k2-instruct";
          index = 0;
          port = 7100;
          model = "unsloth/Kimi-K2-Instruct-GGUF:UD-Q2_K_XL";
          contextSize = 128 * 1024;
          ram = 400;
          extraLlamaCppArgs = [ "--temp 0.6" "--min-p 0.01" "--n-gpu-layers 999" "-ot .ffn_.*_exps.=CPU" ];
        }
        {
          name = "kimi-k2-thinking";
          index = 1;
          port = 7101;
          model = "unsloth/Kimi-K2-Thinking-GGUF:UD-Q2_K_XL";
          contextSize = 128 * 1024;
          ram = 400;
          extraLlamaCppArgs = [ "--temp 1.0" "--min-p 0.01" "--special" "--n-gpu-layers 999" "-ot .ffn_.*_exps.=CPU" ];
        }
        {
          name = "kimi-k2-thinking-cpu";
          index = 2;
          port = 7102;
          gpu = false;
          model = "unsloth/Kimi-K2-Thinking-GGUF:UD-Q2_K_XL";
          ram = 440;
          extraLlamaCppArgs = [ "--temp 1.0" "--min-p 0.01" "--special" ];
        }
        {
          name = "deepseek-v3-terminus";
          index = 3;
          port = 7103;
          model = "unsloth/DeepSeek-V3.1-Terminus-GGUF:UD-Q2_K_XL";
          contextSize = 128 * 1024;
          ram = 280;
          extraLlamaCppArgs = [ "--temp 0.6" "--min-p 0.01" "--n-gpu-layers 999" "-ot .ffn_.*_exps.=CPU" ];
        }
      ];
    };
  };
}
