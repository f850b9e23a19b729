import { createScaleway } from './create-scaleway.ts';
import { serve } from './http.ts';
import type { ScalewayOptions, SimulatedScaleway } from './scaleway.ts';
import { openStorage } from './storage.ts';

/** Serves a simulated Scaleway over HTTP on this machine. */
export const startScaleway = async ({
  port = 0,
  data: folder,
  ...options
}: ScalewayOptions = {}): Promise<SimulatedScaleway> => {
  const data = folder === undefined ? undefined : openStorage(folder);
  const saved = data?.state ?? options.saved;
  // If the start fails, for example because another process has these Macs, the folder stays unchanged.
  let isUp = false;
  const created = createScaleway({ ...options, ...(saved === undefined ? {} : { saved }) }, (copy) => {
    if (isUp) data?.save(copy);
  });
  const { reply, fetch: _, save, resume, ...scaleway } = created;
  try {
    await resume();
    const served = await serve(port, reply);
    isUp = true;
    data?.save(save());
    return {
      ...scaleway,
      url: served.url,
      stop: async () => {
        await served.stop();
        await scaleway.stop();
      },
    };
  } catch (error) {
    await scaleway.stop();
    throw error;
  }
};
