import { createScaleway } from './create-scaleway.ts';
import { serve } from './http/serve.ts';
import type { ScalewayOptions, SimulatedScaleway } from './scaleway.ts';

/** Scaleway over HTTP, on this machine. */
export const startScaleway = async ({ port = 0, ...options }: ScalewayOptions = {}): Promise<SimulatedScaleway> => {
  const { reply, fetch: _, save: __, ...scaleway } = createScaleway(options);
  const served = await serve(port, reply);
  return {
    ...scaleway,
    url: served.url,
    stop: async () => {
      await served.stop();
      await scaleway.stop();
    },
  };
};
