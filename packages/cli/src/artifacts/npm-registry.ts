import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Artifact } from './lock-file.ts';

/** In an address: the registry that npm is set up with, so that whoever has a mirror uses it here too. */
const placeholder = '{npm}';

type Env = Readonly<Record<string, string | undefined>>;

/** The artifacts with addresses that are whole. npm is asked only if one needs it. */
export const withNpmRegistry = async (artifacts: readonly Artifact[], env: Env): Promise<readonly Artifact[]> => {
  if (!artifacts.some(({ urlTemplate }) => urlTemplate.includes(placeholder))) return artifacts;
  const registry = (env['npm_config_registry'] ?? (await askNpm())).trim().replace(/\/+$/, '');
  return artifacts.map((artifact) => ({
    ...artifact,
    urlTemplate: artifact.urlTemplate.replaceAll(placeholder, () => registry),
  }));
};

const askNpm = async (): Promise<string> => {
  try {
    return (await promisify(execFile)('npm', ['config', 'get', 'registry'])).stdout;
  } catch (cause) {
    throw new Error('npm cannot be asked for its registry. Install npm, or set npm_config_registry.', { cause });
  }
};
