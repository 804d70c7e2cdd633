"""What an item's pages say of a variant: whose it is, its siblings, and the checks of its wording."""

from typing import Any

from django import template

from annotate import variant_table
from annotate.models import Item

register = template.Library()


@register.inclusion_tag("annotate/variant_mark.html")
def variant_mark(item: Item) -> dict[str, Any]:
    """`{% variant_mark item %}`: nothing for an item that is no variant."""
    if item.parent is None:
        return {"item": item}
    row = variant_table.row(item.parent)
    [own] = [slot for slot in row.slots if slot.item.pk == item.pk]
    return {"item": item, "row": row, "own": own}
