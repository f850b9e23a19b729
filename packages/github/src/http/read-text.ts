/** A hundred workflow runs are 2 MB. What is larger than this is not from GitHub's API. */
const longestAnswer = 16 * 1024 * 1024;

/** The body as text; `undefined` for one that is too long, whose rest is not read. */
export const readText = async (response: Response, limit = longestAnswer): Promise<string | undefined> => {
  if (response.body === null) return '';
  const decoder = new TextDecoder();
  let read = 0;
  let text = '';
  for await (const chunk of response.body) {
    read += chunk.byteLength;
    if (read > limit) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
};
