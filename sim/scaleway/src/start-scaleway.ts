import { createScaleway } from './create-scaleway.ts';
import { openData } from './data/open-data.ts';
import { serve } from './http/serve.ts';
import type { ScalewayOptions, SimulatedScaleway } from './scaleway.ts';

/** Scaleway over HTTP, on this machine. */
export const startScaleway = async ({
  port = 0,
  data: folder,
  ...options
}: ScalewayOptions = {}): Promise<SimulatedScaleway> => {
  const data = folder === undefined ? undefined : openData(folder);
  const saved = data?.copy ?? options.saved;
  // One that does not come up, as when another has these Macs, leaves the folder as it is.
  let isUp = false;
  const created = createScaleway({ ...options, ...(saved === undefined ? {} : { saved }) }, (copy) => {
    if (isUp) data?.keep(copy);
  });
  const { reply, fetch: _, save, resume, ...scaleway } = created;
  try {
    await resume();
    const served = await serve(port, reply);
    isUp = true;
    data?.keep(save());
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
