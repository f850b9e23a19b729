import { readFile } from 'node:fs/promises';
import { type ClusterConfig, loadConfig, type Logger } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';

/**
 * The kubeconfig on this Mac's disk, read again and again.
 *
 * A file that goes away, or turns into something else, leaves what was read before: the Node need not go because of it. What is
 * wrong with a file is said once.
 */
export const createKubeconfigFile = (path: string, clock: Clock, log: Logger) => {
  let last: string | undefined;
  let config: ClusterConfig | undefined;

  const parse = async (text: string): Promise<void> => {
    if (text.trim() === '') return log.warn('There are no join credentials', { file: path });
    try {
      config = await loadConfig({ env: {}, clock, kubeconfigPath: path, readFile: async () => text });
    } catch (error) {
      log.warn('The join credentials cannot be used', { file: path, error });
    }
  };

  return {
    /** The last one that could be read. */
    get config() {
      return config;
    },
    /** Looks at the file; answers whether it is another one than before. */
    reload: async () => {
      const text = await readFile(path, 'utf8').catch(() => '');
      if (text === last) return false;
      last = text;
      await parse(text);
      return true;
    },
  };
};
