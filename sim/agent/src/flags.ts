/** What the agent was started with. */
export interface AgentFlags {
  readonly nodeName: string;
  /** A path of the Mac. */
  readonly kubeconfig: string;
  readonly cpu: number;
  readonly memoryMB: number;
  readonly maxPods: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly providerID: string | undefined;
}

const labelsIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split(',')
      .filter((pair) => pair !== '')
      .map((pair): [string, string] => {
        const at = pair.indexOf('=');
        return at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
      }),
  );

/** `undefined`: nothing that an agent could run with. Numbers that are left out are those of tart-kubelet.md 1.1. */
export const parseFlags = (words: readonly string[]): AgentFlags | undefined => {
  const flags = new Map(
    words.map((word): [string, string] => {
      const [, name = '', value = ''] = /^--([a-z-]+)(?:=(.*))?$/.exec(word) ?? [];
      return [name, value];
    }),
  );
  const nodeName = flags.get('node-name');
  const kubeconfig = flags.get('kubeconfig');
  if (!nodeName || !kubeconfig) return undefined;
  return {
    nodeName,
    kubeconfig,
    cpu: Number(flags.get('host-cpu') ?? 8),
    memoryMB: Number(flags.get('host-memory-mb') ?? 16_384),
    maxPods: Number(flags.get('max-pods') ?? 2),
    labels: labelsIn(flags.get('node-labels') ?? ''),
    providerID: flags.get('provider-id') || undefined,
  };
};
