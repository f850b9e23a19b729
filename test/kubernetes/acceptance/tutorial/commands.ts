/** The commands of a page: each line of its shell blocks. */
export const commandsOf = (page: string): string[] =>
  [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) => block.split('\n').filter(Boolean));
