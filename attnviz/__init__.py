"""attnviz: see attention, computed live.

Letters used for tensor axes, in code and on screen:

    B  batch              H  query heads        G  key/value heads (G divides H)
    Q  query positions    K  key positions      D  width of one head
    M  model width        Dv width of one value head (equal to D unless stated otherwise)
    T  tokens of a sequence, where queries and keys are the same tokens

A mask is boolean and True means "may attend".
"""
