import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

/** Preloaded in processes that run tests: replaces the source of the file that `TARTAN_MUTANT` names. The file on disk stays as it is. */
const { url, start, end, text } = JSON.parse(process.env['TARTAN_MUTANT'] ?? '{}') as Record<string, string | number>;

registerHooks({
  load: (loaded, context, next) => {
    if (loaded !== url) return next(loaded, context);
    const code = readFileSync(new URL(loaded), 'utf8');
    const source = code.slice(0, Number(start)) + String(text) + code.slice(Number(end));
    return { format: 'module-typescript', source, shortCircuit: true };
  },
});
