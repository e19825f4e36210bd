import marimo

app = marimo.App(width="medium")

with app.setup:
    from pathlib import Path

    import marimo as mo
    import polars as pl

    FEATURES_FILE = Path("accepted.parquet")
    CLASSIFICATION_FILE = Path("classified.parquet")


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    # 8. Classes by a language model

    Kimi-K2.5 behind vLLM puts each paper into one of eight classes.
    """)
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## The run

    On the machine with GPUs:

    ```bash
    vllm serve moonshotai/Kimi-K2.5 \
        --tensor-parallel-size 8 \
        --max-model-len 8192 \
        --max-num-seqs 256 \
        --max-num-batched-tokens 16384 \
        --enable-prefix-caching \
        --enable-chunked-prefill \
        --gpu-memory-utilization 0.95 \
        --disable-log-requests \
        --port 8000
    ```

    Then:

    ```bash
    uv run python classify-script.py
    ```
    """)
    return


@app.cell
def _():
    papers = pl.read_parquet(FEATURES_FILE)
    clf = pl.read_parquet(CLASSIFICATION_FILE)
    print(f"{papers.shape[0]} rows, {clf.shape[0]} classified")
    return clf, papers


if __name__ == "__main__":
    app.run()
