import type { Plugin } from 'rolldown';

/**
 * Writes every other character as its escape. V8 keeps the text of a program as long as the program runs, with one byte for a character
 * if all of them have one, else with two: a single quotation mark would cost the whole text once more. Comments are gone by then, and
 * strings, templates and patterns mean the same.
 */
export const ascii = (): Plugin => ({
  name: 'ascii',
  generateBundle: (_, files) => {
    for (const file of Object.values(files))
      if (file.type === 'chunk')
        file.code = file.code.replaceAll(
          /[^\0-\x7f]/g,
          (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
        );
  },
});
