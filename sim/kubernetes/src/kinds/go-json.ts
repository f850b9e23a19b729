/** Why Go could not read a text as a JSON object, in its words; undefined when it can. */
export const goJsonProblem = (text: string): string | undefined => {
  if (text.trim() === '') return 'unexpected end of JSON input';
  try {
    const value: unknown = JSON.parse(text);
    if (value === null || (typeof value === 'object' && !Array.isArray(value))) return undefined;
    const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
    return `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`;
  } catch {
    return syntaxProblem(text);
  }
};

/** Go names the first character it could not use. Only the beginnings are told apart here: what people get wrong. */
const syntaxProblem = (text: string): string => {
  const trimmed = text.trimStart();
  const [first = '', second = ''] = [trimmed[0], trimmed.slice(1).trimStart()[0]];
  if (!/[{["\-0-9tfn]/.test(first)) return `invalid character '${first}' looking for beginning of value`;
  if (first === '{' && second !== '' && second !== '"') {
    return `invalid character '${second}' looking for beginning of object key string`;
  }
  return 'unexpected end of JSON input';
};
