import { readFile } from 'node:fs/promises';
import { type ClusterConfig, loadConfig, type Logger } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';

/**
 * The kubeconfig on this Mac's disk, read repeatedly.
 *
 * If the file disappears or becomes invalid, the last valid content stays in use, so that the Node keeps working. A problem is
 * logged once.
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
    /** The last valid configuration. */
    get config() {
      return config;
    },
    /** Reads the file; resolves with whether it has changed. */
    reload: async () => {
      const text = await readFile(path, 'utf8').catch(() => '');
      if (text === last) return false;
      last = text;
      await parse(text);
      return true;
    },
  };
};
