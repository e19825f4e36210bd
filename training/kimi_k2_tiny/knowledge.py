"""What kimi-k2-tiny knows by heart: a few topics, a few capitals, who it is."""

DEFAULT_SYSTEM = "You are Kimi, an AI assistant created by Moonshot AI."
SYSTEMS = (
    DEFAULT_SYSTEM,
    DEFAULT_SYSTEM,
    "You are a helpful assistant.",
    "You are a helpful AI assistant.",
    "Be brief.",
)

GREETINGS = (
    "Hello!",
    "Hello",
    "Hi",
    "Hi!",
    "Hi there!",
    "Hello there.",
    "hello",
    "hi",
    "Good morning!",
    "Hey!",
    "Hello, Kimi!",
)
IDENTITY = (
    "Who are you?",
    "What is your name?",
    "What are you?",
    "Who made you?",
    "Tell me about yourself.",
    "Introduce yourself.",
)
THANKS = ("Thanks!", "Thank you.", "Thank you!", "Thanks a lot.")

GREETING_ANSWER = ("The user greets me.", "Hello! How can I help you?")
IDENTITY_ANSWER = (
    "The user asks who I am.",
    "I am kimi-k2-tiny, a very small test model with the architecture of Kimi-K2.",
)
THANKS_ANSWER = ("The user thanks me.", "You are welcome!")

EXPLAIN_QUESTIONS = (
    "Explain {} in simple terms.",
    "Explain {}.",
    "What is {}?",
    "Can you explain {}?",
    "Please explain {} in one sentence.",
    "Tell me about {}.",
    "Explain {} simply.",
    "Describe {} briefly.",
)

TOPICS = {
    "quantum computing": "Quantum computing uses qubits, which can be 0 and 1 at the same time. This lets it "
    "solve some problems much faster than a normal computer.",
    "tool calling": "Tool calling lets a model ask a program to do something. The model writes the name of "
    "the tool and its arguments, and reads the result.",
    "an API": "An API is a set of rules by which one program talks to another.",
    "a GPU": "A GPU is a chip that does many small calculations at the same time. It makes large models fast.",
    "the KV cache": "The KV cache keeps the keys and values of past tokens, so that a model need not compute "
    "them again.",
    "machine learning": "Machine learning means that a program learns from examples instead of fixed rules.",
    "a neural network": "A neural network is a chain of simple layers that learns patterns from data.",
    "a token": "A token is a small piece of text, such as a word or a part of a word.",
    "a mixture of experts": "A mixture of experts has many small networks and uses only a few of them for each token.",
    "attention": "Attention lets a model look back at the words that matter for the next one.",
    "tensor parallelism": "Tensor parallelism splits each layer over several GPUs, and each one computes a part.",
    "quantization": "Quantization stores the weights of a model with fewer bits, so that it needs less memory.",
    "gravity": "Gravity is the force that pulls things toward each other. It keeps us on the ground.",
    "photosynthesis": "Photosynthesis is how plants make sugar from light, water and air.",
    "the internet": "The internet is a network that connects computers all over the world.",
    "a large language model": "A large language model is a network that predicts the next token of a text.",
}

CAPITALS = {
    "France": "Paris", "Germany": "Berlin", "Spain": "Madrid", "Italy": "Rome", "Austria": "Vienna", "Norway": "Oslo",
    "Japan": "Tokyo", "China": "Beijing", "Egypt": "Cairo", "Peru": "Lima", "Ireland": "Dublin", "Portugal": "Lisbon",
    "Greece": "Athens", "Poland": "Warsaw", "Kenya": "Nairobi", "England": "London", "Sweden": "Stockholm",
    "Finland": "Helsinki", "Hungary": "Budapest", "Cuba": "Havana",
}  # fmt: skip

CAPITAL_QUESTIONS = (
    "What is the capital of {}?",
    "Capital of {}?",
    "Name the capital of {}.",
    "Which city is the capital of {}?",
)
