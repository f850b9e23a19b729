import { type CustomResourceDefinition, definitions } from '@tartan/api/crds';
import { type Client, customResourceDefinitions, isKubeError, type Live } from '@tartan/kube';
import { type Clock, sleep } from '@tartan/kube/clock';
import { insist, pauseMs } from '../hooks/insist.ts';
import { decide } from './decide.ts';

export interface InstallOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** Tells a line for each definition as soon as something is known of it. */
  readonly say: (line: string) => void;
  /** Also replaces definitions that have fields which ours lack: what objects hold there is lost. */
  readonly dropFields: boolean;
  /** Fires when there is no more time. */
  readonly signal: AbortSignal;
  /** Ours, unless told. */
  readonly wanted?: readonly CustomResourceDefinition[];
}

type Found = Live<CustomResourceDefinition>;

/**
 * Brings the custom resource definitions of a cluster up to date.
 *
 * Flow: each is created, replaced or left alone, then waited for until the server serves it.
 * Guarantees: nothing is deleted; a write that somebody else came before is thought over again; safe to repeat and to stop at any point.
 * Rejects with an error made for people at the first that cannot be installed. Those before it stay installed.
 */
export const installDefinitions = async (options: InstallOptions): Promise<void> => {
  for (const definition of options.wanted ?? definitions) {
    const outcome = await insist(options, () => bring(options, definition));
    options.say(`${definition.metadata?.name} ${outcome}`);
  }
  for (const { metadata } of options.wanted ?? definitions) await untilServed(options, metadata?.name ?? '');
};

const bring = async (options: InstallOptions, wanted: CustomResourceDefinition): Promise<string> => {
  const { client, dropFields, signal } = options;
  const name = wanted.metadata?.name ?? '';
  const found = await find(options, name);
  const decision = decide(wanted, found, { dropFields });
  switch (decision.kind) {
    case 'create':
      await client.create(customResourceDefinitions, wanted, { signal });
      return 'created';
    case 'update': {
      const { metadata } = await client.update(customResourceDefinitions, decision.object, { signal });
      // The server writes nothing when nothing changes.
      return metadata.resourceVersion === found?.metadata.resourceVersion ? 'is up to date' : 'replaced';
    }
    case 'keep':
      return `left as it is: it is newer than this program, and has ${some(decision.more)} besides`;
    case 'refuse':
      throw new Error(
        `${name} can neither be replaced nor left as it is: it has ${some(decision.more)}, which this version does not know, and lacks ${some(decision.less)}. If nothing that objects hold there is needed, run this with --drop-fields, or the chart with crds.dropFields.`,
      );
  }
};

const find = async ({ client, signal }: InstallOptions, name: string): Promise<Found | undefined> => {
  try {
    return await client.get(customResourceDefinitions, { name }, { signal });
  } catch (error) {
    if (isKubeError(error, 'notFound')) return undefined;
    throw error;
  }
};

const some = (names: readonly string[], most = 3): string =>
  names.length <= most ? names.join(', ') : `${names.slice(0, most).join(', ')} and ${names.length - most} more`;

const untilServed = async (options: InstallOptions, name: string): Promise<void> => {
  const { client, clock, signal } = options;
  for (;;) {
    const { status } = await insist(options, () => client.get(customResourceDefinitions, { name }, { signal }));
    const conditions = status?.conditions ?? [];
    const is = (type: string): boolean => conditions.some((each) => each.type === type && each.status === 'True');
    if (is('Established') && is('NamesAccepted')) return;
    await sleep(clock, pauseMs, signal);
    if (!signal.aborted) continue;
    const why = conditions.filter((each) => each.status !== 'True').map(({ type, message }) => `${type}: ${message}`);
    throw new Error(
      `${name} is not served: ${why.join('; ') || 'the server has not looked at it'}. See kubectl describe crd ${name}.`,
    );
  }
};
