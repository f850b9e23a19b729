import { isIPv4 } from 'node:net';
import type { NetworkInterfaceInfo } from 'node:os';
import type { AgentOptions } from '../flags/flags.ts';
import type { RunCommand } from './run-command.ts';

type Interfaces = Readonly<
  Record<string, readonly Pick<NetworkInterfaceInfo, 'address' | 'family' | 'internal'>[] | undefined>
>;

/** Those of virtual machines: an address there is one that only they can reach. */
const vmInterfaces = /^(bridge|vmnet)/;

/** The first address by which others can reach this Mac, as far as its interfaces tell. */
export const firstAddress = (interfaces: Interfaces): string | undefined =>
  Object.entries(interfaces)
    .filter(([name]) => !vmInterfaces.test(name))
    .flatMap(([, addresses = []]) => addresses)
    .find(({ address, family, internal }) => family === 'IPv4' && !internal && !address.startsWith('169.254.'))
    ?.address;

/**
 * The address of the Node. From the tailnet it comes from there or not at all: a Mac that is to be reached there only must not publish
 * the address that the whole internet sees.
 */
export const nodeAddress = async (
  { nodeIP, nodeIPSource }: Pick<AgentOptions, 'nodeIP' | 'nodeIPSource'>,
  {
    run,
    tailscale,
    interfaces,
  }: { readonly run: RunCommand; readonly tailscale: string; readonly interfaces: () => Interfaces },
  signal: AbortSignal,
): Promise<string> => {
  if (nodeIP !== undefined) return nodeIP;
  const found =
    nodeIPSource === 'tailscale'
      ? (await run(tailscale, ['ip', '-4'], signal))
          .split('\n')
          .find((line) => isIPv4(line.trim()))
          ?.trim()
      : firstAddress(interfaces());
  if (found !== undefined) return found;
  throw new Error(
    nodeIPSource === 'tailscale' ? 'tailscale has no IPv4 address yet' : 'no network interface has an address',
  );
};
