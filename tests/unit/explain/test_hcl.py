"""Scripts in heredocs of Terraform, and containers of Nomad's jobs."""

from __future__ import annotations

from tests.unit.explain.judging import ask

TERRAFORM = """variable "ranks" { default = 8 }
variable "image" {
  type    = string
  default = "vllm/vllm-openai:v0.20.0"
}
resource "aws_instance" "model" {
  instance_type = "p5en.48xlarge"
  user_data     = <<-EOT
    #!/bin/bash
    docker run -d --gpus all --ipc=host -p 127.0.0.1:8000:8000 ${var.image} \\
      --model moonshotai/Kimi-K2-Thinking --tensor-parallel-size ${var.ranks} --trust-remote-code --max-model-len 65536
  EOT
}
"""
NOMAD = """job "model" {
  group "g" {
    task "serve" {
      driver = "docker"
      config {
        image    = "vllm/vllm-openai:v0.20.0"
        ipc_mode = "host"
        args = [
          "--model", "moonshotai/Kimi-K2-Thinking", # the weights
          "--tensor-parallel-size", "8", "--trust-remote-code",
        ]
      }
      resources {
        device "nvidia/gpu" { count = %s }
      }
    }
  }
}
"""


def test_a_script_in_a_heredoc() -> None:
    (judged,) = ask(TERRAFORM)
    assert judged.version == "0.20.0"
    assert judged.layout is not None
    assert judged.layout.tp == 8
    assert judged.cluster is not None
    assert judged.cluster.name == "8xH200"


def test_a_variable_without_a_default_is_not_known() -> None:
    (judged,) = ask(TERRAFORM.replace("{ default = 8 }", "{}"))
    assert "tp" in judged.unknown


def test_devices_of_a_task() -> None:
    (judged,) = ask(NOMAD % 8)
    assert judged.layout is not None
    assert judged.layout.tp == 8
    assert not [each for each in judged.findings if each.where == "--gpus"]
    (judged,) = ask(NOMAD % 4)
    (finding,) = [each for each in judged.findings if each.where == "--gpus"]
    assert "8 ranks, and the containers get 4 devices" in finding.message


def test_a_file_that_starts_nothing() -> None:
    assert not ask('resource "aws_s3_bucket" "b" {\n  bucket = "kimi"\n}\n')
