"""Models of the study's three families, tiny and with random weights, saved as a checkpoint is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

CHAT = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{% for part in message.content %}{% if part.type == 'image' %}PICTURE\n"
    "{% else %}{{ part.text }}{% endif %}{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SPECIAL = ["<pad>", "<|im_start|>", "<|im_end|>"]
TEXT = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 4096,
    "initializer_range": 0.3,
    "tie_word_embeddings": False,
}
VISION = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}


def tokenizer(**named: str) -> Any:
    """One token a byte, and the special ones of a family, by the names its processor knows them under."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    raw = Tokenizer(models.BPE(vocab={letter: number for number, letter in enumerate(letters)}, merges=[]))
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    made = transformers.PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token="<pad>", eos_token="<|im_end|>", extra_special_tokens=named
    )
    made.add_special_tokens({"additional_special_tokens": SPECIAL}, replace_extra_special_tokens=False)
    return made


def internvl(folder: Path) -> None:
    signs = {"start_image_token": "<img>", "end_image_token": "</img>", "context_image_token": "<IMG_CONTEXT>"}
    words = tokenizer(**signs, video_token="<video>")
    processor = transformers.InternVLProcessor(
        image_processor=transformers.GotOcr2ImageProcessor(
            size={"height": 28, "width": 28}, crop_to_patches=True, min_patches=1, max_patches=4
        ),
        tokenizer=words,
        video_processor=transformers.InternVLVideoProcessor(size={"height": 28, "width": 28}),
        image_seq_length=4,
        chat_template=CHAT.replace("PICTURE", "<IMG_CONTEXT>"),
    )
    config = transformers.InternVLConfig(
        vision_config={**VISION, "image_size": [28, 28], "patch_size": [7, 7], "initializer_range": 0.3},
        text_config={**TEXT, "model_type": "qwen2", "vocab_size": len(words)},
        image_token_id=words.convert_tokens_to_ids("<IMG_CONTEXT>"),
        image_seq_length=4,
        tie_word_embeddings=False,
    )
    save(folder, processor, transformers.InternVLForConditionalGeneration(config))


def llava_next(folder: Path) -> None:
    words = tokenizer(image_token="<image>")
    grid = [[28, 56], [56, 28], [56, 56]]
    processor = transformers.LlavaNextProcessor(
        image_processor=transformers.LlavaNextImageProcessor(
            size={"shortest_edge": 28}, crop_size={"height": 28, "width": 28}, image_grid_pinpoints=grid
        ),
        tokenizer=words,
        patch_size=7,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=CHAT.replace("PICTURE", "<image>"),
    )
    config = transformers.LlavaNextConfig(
        vision_config={**VISION, "model_type": "clip_vision_model", "image_size": 28, "patch_size": 7},
        text_config={**TEXT, "model_type": "llama", "vocab_size": len(words)},
        image_token_index=words.convert_tokens_to_ids("<image>"),
        image_grid_pinpoints=grid,
        vision_feature_layer=-2,
    )
    save(folder, processor, transformers.LlavaNextForConditionalGeneration(config))


def llava_onevision(folder: Path) -> None:
    words = tokenizer(image_token="<image>", video_token="<video>")
    grid = [[28, 28], [28, 56], [56, 28], [56, 56]]
    processor = transformers.LlavaOnevisionProcessor(
        image_processor=transformers.LlavaOnevisionImageProcessor(
            size={"height": 28, "width": 28}, image_grid_pinpoints=grid
        ),
        tokenizer=words,
        video_processor=transformers.LlavaOnevisionVideoProcessor(size={"height": 28, "width": 28}),
        num_image_tokens=16,
        vision_feature_select_strategy="full",
        chat_template=CHAT.replace("PICTURE", "<image>"),
    )
    config = transformers.LlavaOnevisionConfig(
        vision_config={
            **VISION,
            "model_type": "siglip_vision_model",
            "image_size": 28,
            "patch_size": 7,
            "vision_use_head": False,
        },
        text_config={**TEXT, "model_type": "qwen2", "vocab_size": len(words)},
        image_token_index=words.convert_tokens_to_ids("<image>"),
        video_token_index=words.convert_tokens_to_ids("<video>"),
        image_grid_pinpoints=grid,
    )
    save(folder, processor, transformers.LlavaOnevisionForConditionalGeneration(config))


def qwen(folder: Path) -> None:
    words = tokenizer(
        image_token="<|image_pad|>",
        video_token="<|video_pad|>",
        vision_start_token="<|vision_start|>",
        vision_end_token="<|vision_end|>",
    )
    processor = transformers.Qwen2_5_VLProcessor(
        image_processor=transformers.Qwen2VLImageProcessor(
            patch_size=7, merge_size=2, min_pixels=14 * 14, max_pixels=56 * 56
        ),
        tokenizer=words,
        video_processor=transformers.Qwen2VLVideoProcessor(patch_size=7, merge_size=2),
        chat_template=CHAT.replace("PICTURE", "<|vision_start|><|image_pad|><|vision_end|>"),
    )
    config = transformers.Qwen2_5_VLConfig(
        vision_config={
            "depth": 2,
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_heads": 4,
            "patch_size": 7,
            "window_size": 28,
            "out_hidden_size": 32,
            "fullatt_block_indexes": [1],
            "initializer_range": 0.3,
        },
        text_config={
            **TEXT,
            "vocab_size": len(words),
            "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [1, 1, 2]},
        },
        image_token_id=words.convert_tokens_to_ids("<|image_pad|>"),
        video_token_id=words.convert_tokens_to_ids("<|video_pad|>"),
        vision_start_token_id=words.convert_tokens_to_ids("<|vision_start|>"),
        vision_end_token_id=words.convert_tokens_to_ids("<|vision_end|>"),
    )
    save(folder, processor, transformers.Qwen2_5_VLForConditionalGeneration(config))


def save(folder: Path, processor: Any, model: Any) -> None:
    """Write a checkpoint whose weights depend on nothing but its shape.

    Its own settings ask for sampling, as many checkpoints' do.
    """
    draw = torch.Generator().manual_seed(20)
    with torch.no_grad():
        for name, weights in sorted(model.state_dict().items()):
            if weights.dim() > 1:
                weights.copy_(torch.randn(weights.shape, generator=draw) * (0.6 if "lm_head" in name else 0.25))
    ends = processor.tokenizer.eos_token_id
    model.generation_config = transformers.GenerationConfig(
        do_sample=True, temperature=0.9, top_p=0.8, eos_token_id=ends, pad_token_id=processor.tokenizer.pad_token_id
    )
    model.save_pretrained(folder)
    processor.save_pretrained(folder)


FAMILIES: dict[str, Callable[[Path], None]] = {
    "internvl": internvl,
    "llava_next": llava_next,
    "llava_onevision": llava_onevision,
    "qwen": qwen,
}
