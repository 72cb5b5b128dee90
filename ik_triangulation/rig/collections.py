# SPDX-License-Identifier: GPL-3.0-or-later
"""Collections for new objects."""

from collections.abc import Iterator

from bpy.types import Collection, LayerCollection, Object, Scene, ViewLayer


def home(ob: Object, scene: Scene, view_layer: ViewLayer) -> Collection:
    """Return the collection for new objects that belong to an object.

    It is one that the object is in and that is visible, local and not overridden; otherwise that of the scene.
    """
    for collection in _shown(view_layer.layer_collection):
        if collection in ob.users_collection and not (collection.library or collection.override_library):
            return collection
    return scene.collection


def _shown(layer: LayerCollection) -> Iterator[Collection]:
    """Yield the collections whose objects a view layer shows."""
    if not layer.exclude and layer.is_visible:
        yield layer.collection
    for child in layer.children:
        yield from _shown(child)
