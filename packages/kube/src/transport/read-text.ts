/** The body as text, at most `limit` bytes of it (after decompression); `undefined` for one that is longer, whose rest is not read. */
export const readText = async (response: Response, limit: number): Promise<string | undefined> => {
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
