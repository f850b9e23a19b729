/** Instead of an error, whose message would quote the text. */
export const notJSON = Symbol('not JSON');

/** Nothing is `undefined`. */
export const parseJSON = (text: string): unknown => {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return notJSON;
  }
};
