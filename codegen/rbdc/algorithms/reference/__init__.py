"""The recursions of the literature over abstract scalars: the references for all generated code.

Nothing here imports the sources of generated code, and no generator imports this. The two share only the
spatial algebra, the model that a description gives, and the tools of `rbdc.algorithms.tools`, which are
tested against NumPy alone. The records of functions name the references (`rbdc.functions.references`).

Each reference takes a model as read (bodies in their links' frames) and lists of scalars: floats, complex
numbers, NumPy arrays with one lane a sample, mpmath numbers, symbolic scalars. The model's numbers may be
such scalars too, except the axes of joints, which are floats. Only plain numbers decide what is computed.
Beside the references stand the recursions themselves, which take a machine (`rbdc.algorithms.tools.machine`)
in place of a model.
"""
