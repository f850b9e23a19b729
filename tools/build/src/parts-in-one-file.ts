import { relative } from 'node:path';
import type { CodeSplittingOptions, Plugin } from 'rolldown';
import { checkout } from './checkout.ts';

/** The program itself among the parts. No other has this name: theirs end with a hash. */
const first = './main.mjs';

/**
 * Each package is a part. Packages do not import in circles, so parts do not either. The program is a part of its own: what it waits for
 * must not wait for it.
 */
export const partsOf = (program: string): CodeSplittingOptions => ({
  includeDependenciesRecursively: false,
  groups: [{ name: (id) => partOf(program, id), debugName: 'packages' }],
});

const partOf = (program: string, id: string): string | null => {
  const path = relative(checkout, id);
  // What the bundler adds has a name that is no path.
  if (path === program || id.startsWith('\0')) return null;
  const installed = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
  return (installed ?? path.split('/').slice(0, 2).join('/')).replaceAll(/[^\w-]+/g, '-');
};

/**
 * Puts all parts into the file of the program, behind a few lines that give them to Node where it would read a file beside it. To Node they
 * are comments until then. What it takes to parse a text grows with its length, and allocators keep it: 11 MB for the agent as one text, 2 MB
 * for one part after the other. And a part that is imported only when needed, such as YAML, is not parsed before.
 */
export const partsInOneFile = (): Plugin => ({
  name: 'parts-in-one-file',
  generateBundle: (_, files) => {
    const chunks = Object.values(files).filter((file) => file.type === 'chunk');
    const parts = chunks.map(({ isEntry, fileName, code }) => asComment(isEntry ? first : `./${fileName}`, code));
    for (const chunk of chunks)
      if (chunk.isEntry) chunk.code = `${loader}${parts.join('')}`;
      else delete files[chunk.fileName];
  },
});

/** No line of a part begins as its name does, whatever is in it. */
const asComment = (name: string, text: string): string => `/*${name}*/\n//${text.replaceAll('\n', '\n//')}\n`;

// A text that is joined is a copy. Else it would be a view of the file, and V8 would keep all of that.
const loader = `#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const parts = new Map();
for (const part of readFileSync(import.meta.filename, 'latin1').split('\\n/*').slice(1)) {
  const [name, ...lines] = part.split('\\n//');
  parts.set(new URL(name.replace('*/', ''), import.meta.url).href, [...lines, ''].join('\\n'));
}
registerHooks({
  resolve: (name, context, next) => {
    const url = URL.parse(name, context.parentURL)?.href;
    return parts.has(url) ? { url, shortCircuit: true } : next(name, context);
  },
  load: (url, context, next) =>
    parts.has(url) ? { source: parts.get(url), format: 'module', shortCircuit: true } : next(url, context),
});
await import('${first}');
`;
