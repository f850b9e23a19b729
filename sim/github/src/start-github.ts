import { createGitHub } from './create-github.ts';
import type { GitHubOptions, SimulatedGitHub } from './github.ts';
import { serve } from './http.ts';

/** Serves a simulated GitHub over HTTP on this machine. */
export const startGitHub = async ({ port = 0, ...options }: GitHubOptions = {}): Promise<SimulatedGitHub> => {
  let url = '';
  const { handle, fetch: _, ...github } = createGitHub(options, () => url);
  const served = await serve(port, handle);
  url = served.url;
  return {
    ...github,
    url,
    stop: async () => {
      await served.stop();
      await github.stop();
    },
  };
};
