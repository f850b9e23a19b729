interface Failure {
  code?: string;
  summary?: string;
  message: string;
}

const texts = ({ code, summary, message }: Failure): string => {
  const text = summary ?? message;
  switch (code) {
    case 'no_such_key':
      return text.replace('No such key', 'no such key');
    case 'index_out_of_bounds':
      return `index out of bounds: ${/index (-?\d+)/.exec(text)?.[1] ?? ''}`;
    case 'modulo_by_zero':
      return 'modulus by zero';
    case 'numeric_overflow':
      return 'integer overflow';
    case 'no_such_overload':
    case 'no_matching_overload':
      return 'no such overload';
    case undefined:
    default:
      return text;
  }
};

/** What went wrong while a rule was evaluated, in the words of the real server. */
export const runtimeText = (error: unknown, rule: string): string => {
  const text = error instanceof Error ? texts(error) : String(error);
  return text.startsWith('no such overload')
    ? `'${text}': call arguments did not match a supported operator, function or macro signature for rule: ${rule}`
    : `${text} evaluating rule: ${rule}`;
};
