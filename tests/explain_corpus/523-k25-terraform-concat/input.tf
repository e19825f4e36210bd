locals {
  # always for K2.5
  kimi_extra_args = [
    "--trust-remote-code",
    "--enforce-eager",
    "--mm-encoder-tp-mode", "data",
    "--tool-call-parser", "kimi_k2",
    "--reasoning-parser", "kimi_k2",
  ]

  tp_args = var.vllm_tensor_parallel_size > 1 ? [
    "--tensor-parallel-size", tostring(var.vllm_tensor_parallel_size)
  ] : []

  prefix_caching_args = var.vllm_enable_prefix_caching ? [
    "--enable-prefix-caching"
  ] : []

  # 32 if nothing is asked for
  swap_args = ["--swap-space", var.vllm_swap_space_gb > 0 ? tostring(var.vllm_swap_space_gb) : "32"]

  vllm_extra_args = concat(
    local.kimi_extra_args,
    local.tp_args,
    local.prefix_caching_args,
    local.swap_args,
    ["--disable-log-requests"]
  )
}

resource "kubernetes_deployment" "vllm_kimi" {
  count            = var.enable_vllm ? 1 : 0
  wait_for_rollout = false

  metadata {
    name      = "vllm-kimi-k2"
    namespace = kubernetes_namespace.ml.metadata[0].name
    labels = {
      app   = "vllm-kimi-k2"
      model = "kimi-k2-5"
    }
  }

  spec {
    replicas = 1

    selector {
      match_labels = {
        app = "vllm-kimi-k2"
      }
    }

    template {
      metadata {
        labels = {
          app   = "vllm-kimi-k2"
          model = "kimi-k2-5"
        }
      }

      spec {
        container {
          name  = "vllm"
          image = var.vllm_image

          args = concat(
            [
              "--model", var.vllm_model_id,
              "--port", "8000",
              "--gpu-memory-utilization", tostring(var.vllm_gpu_memory_utilization),
              "--max-model-len", tostring(var.vllm_max_model_len),
            ],
            var.vllm_cpu_offload_gb > 0 ? ["--cpu-offload-gb", tostring(var.vllm_cpu_offload_gb)] : [],
            local.vllm_extra_args
          )

          env {
            name  = "NCCL_TIMEOUT"
            value = "1800"
          }
          env {
            name  = "HF_HUB_OFFLINE"
            value = "1"
          }
          env {
            name  = "VLLM_ATTENTION_BACKEND"
            value = "FLASHINFER"
          }
          env {
            name  = "FI_PROVIDER"
            value = "efa"
          }

          port {
            container_port = 8000
            name           = "http"
          }

          resources {
            limits = {
              "nvidia.com/gpu" = var.vllm_gpu_count
            }
          }

          liveness_probe {
            http_get {
              path = "/health"
              port = 8000
            }
            initial_delay_seconds = 600
            period_seconds        = 30
            failure_threshold     = 5
          }
        }
        volume {
          name = "shm"
          empty_dir {
            medium     = "Memory"
            size_limit = "64Gi"
          }
        }
      }
    }
  }
}
