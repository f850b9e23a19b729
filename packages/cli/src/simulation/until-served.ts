import { type Client, customResourceDefinitions } from '@tartan/kube';
import { sleep, systemClock as clock } from '@tartan/kube/clock';

type Definition = NonNullable<(typeof customResourceDefinitions)['ofType']>;

/** A real server takes objects of a kind a moment after its definition. */
export const untilServed = async (client: Client, definitions: readonly Definition[]): Promise<void> => {
  for (const { metadata } of definitions) {
    const name = metadata?.name ?? '';
    for (;;) {
      const { status } = await client.get(customResourceDefinitions, { name });
      if (status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True')) break;
      await sleep(clock, 50, AbortSignal.timeout(1000));
    }
  }
};
