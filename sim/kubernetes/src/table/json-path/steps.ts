/** One step of a path: from the values found so far to those that are found next. */
export type Step =
  | { kind: 'field'; name: string }
  | { kind: 'wildcard' }
  | { kind: 'descend' }
  /** Like `list[from:to:by]`; `[n]` is `[n:n+1]`, and an absent `to` is the end. */
  | { kind: 'slice'; from: number; to: number | undefined; by: number; single: boolean }
  | { kind: 'union'; paths: readonly Step[][] }
  | { kind: 'literal'; value: string | number | boolean }
  /** A word that means nothing here. Parses, and then finds nothing. */
  | { kind: 'word' }
  /** Without an operator: whatever has the left side. */
  | { kind: 'filter'; left: readonly Step[]; operator: string; right: readonly Step[] };
