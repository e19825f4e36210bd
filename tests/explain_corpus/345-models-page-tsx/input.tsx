import { Card } from "@/components/ui/card";

const models = [
  {
    name: "Kimi K2.6",
    lab: "Moonshot AI",
    params: "~1T MoE",
    context: "262K tokens",
    vram: "4× H100 (80GB)",
    deploy: [
      { tool: "vLLM", cmd: "vllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8" },
      { tool: "SGLang", cmd: "python -m sglang.launch_server --model moonshotai/Kimi-K2.6 --tp 8" },
    ],
  },
  {
    name: "Qwen3.6-27B",
    lab: "Alibaba",
    params: "27B dense",
    context: "262K",
    vram: "1× RTX 5090 (24GB, Q4)",
    deploy: [
      { tool: "Ollama", cmd: "ollama run qwen3.6:27b" },
      { tool: "vLLM", cmd: "vllm serve Qwen/Qwen3.6-27B" },
      { tool: "LM Studio", cmd: "Download from HuggingFace" },
    ],
  },
  {
    name: "DeepSeek V4 Flash",
    lab: "DeepSeek AI",
    params: "284B MoE / 13B active",
    context: "1M tokens",
    vram: "1× H100 (80GB)",
    deploy: [
      { tool: "vLLM", cmd: "vllm serve deepseek-ai/DeepSeek-V4-Flash --tensor-parallel-size 1" },
      { tool: "SGLang", cmd: "python -m sglang.launch_server --model deepseek-ai/DeepSeek-V4-Flash --tp 1" },
    ],
  },
];

export default function Page() {
  return (
    <div>
      {models.map((m) => (
        <Card key={m.name}>
          <p>{m.vram}</p>
          {m.deploy.map((d) => (
            <code key={d.tool}>{d.cmd}</code>
          ))}
        </Card>
      ))}
    </div>
  );
}
