import { labels, labelValues, macTaint } from '@tartan/api';
import { type Client, createSubresources, nodes, pods, type Transport } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { fleetNames, fleetNamespace as namespace, untilObjects } from '@tartan/sim-fleet';

type Pod = NonNullable<(typeof pods)['ofType']>;
type Node = NonNullable<(typeof nodes)['ofType']>;

/** A typical Pod for a Mac. */
export const demoPod = (name: string) =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name },
    spec: {
      nodeSelector: { [labels.os]: labelValues.os },
      tolerations: [{ key: macTaint.key, operator: 'Exists' }],
      restartPolicy: 'Never',
      containers: [
        {
          name: 'runner',
          image: 'ghcr.io/example/macos-tahoe-xcode:26.1',
          env: [{ name: 'JOB', value: 'build-and-test' }],
          resources: { requests: { cpu: '4', memory: '6Gi' } },
        },
      ],
    },
  }) as const satisfies Pod;

const numberOf = (name: string): number => Number(/^build-(\d+)$/.exec(name)?.[1] ?? 0);

/** Creates `build-1`, or the next one after those of earlier starts, on a Mac of the first fleet. Returns its name. */
export const createDemoPod = async (client: Client): Promise<string> => {
  const { items } = await client.list(pods, { namespace });
  const name = `build-${Math.max(0, ...items.map(({ metadata }) => numberOf(metadata.name))) + 1}`;
  const { spec, ...rest } = demoPod(name);
  const nodeSelector = { ...spec.nodeSelector, [labels.fleet]: fleetNames[0] };
  await client.create(pods, { ...rest, spec: { ...spec, nodeSelector } });
  return name;
};

/** Waits until the guest runs and, `withLog`, its log can be read. False: the signal fired before. */
export const untilDemoPodRuns = async (
  client: Client,
  name: string,
  signal: AbortSignal,
  { withLog }: { readonly withLog: boolean },
): Promise<boolean> => {
  let mac: string | undefined;
  const runs = await untilObjects(
    client,
    pods,
    (all) => {
      const demo = all.find(({ metadata, status }) => metadata.name === name && status?.phase === 'Running');
      mac = demo?.spec?.nodeName;
      return demo !== undefined;
    },
    signal,
  );
  if (!withLog) return runs;
  // The log is read through the kubelet API, whose port the Node reports.
  const isReached = ({ metadata, status }: Node): boolean =>
    metadata?.name === mac && (status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0) > 0;
  return runs && (await untilObjects(client, nodes, (all) => all.some(isReached), signal));
};

const linesShown = 4;

/** Waits for the first lines of the log, and returns them. */
export const demoPodLog = async (
  transport: Transport,
  name: string,
  signal: AbortSignal,
): Promise<readonly string[]> => {
  const { podLogs } = createSubresources(transport, { clock: systemClock });
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of podLogs({ namespace, name }, { follow: true, signal })) {
    text += decoder.decode(chunk, { stream: true });
    if (text.split('\n').length > linesShown) break;
  }
  return text.split('\n').slice(0, linesShown);
};
