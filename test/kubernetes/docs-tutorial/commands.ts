/** Commands of a page, as it shows them: each line of its blocks of shell. */
export const commandsOf = (page: string): string[] =>
  [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) => block.split('\n').filter(Boolean));
