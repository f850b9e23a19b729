import type { ToolResult } from '../../machine.ts';
import { type MinimalMachine, minimalMachine, toolCall } from '../../testing/minimal-machine.ts';
import { createPacketFilter, type PacketFilter } from '../packet-filter.ts';

export interface PfMachine {
  readonly machine: MinimalMachine;
  readonly pf: PacketFilter;
  pfctl(...args: readonly string[]): ToolResult;
  /** With this standard input. */
  pipe(input: string, ...args: readonly string[]): ToolResult;
  reboot(): Promise<void>;
}

export const stockPfConf = `scrub-anchor "com.apple/*"
nat-anchor "com.apple/*"
rdr-anchor "com.apple/*"
dummynet-anchor "com.apple/*"
anchor "com.apple/*"
load anchor "com.apple" from "/etc/pf.anchors/com.apple"
`;

/** A Mac that has just started, with the pf.conf of macOS. `remove` its machine afterwards. */
export const createPfMachine = async (): Promise<PfMachine> => {
  const machine = minimalMachine();
  machine.write('/etc/pf.conf', stockPfConf);
  machine.write('/etc/pf.anchors/com.apple', 'anchor "200.AirDrop/*"\nanchor "250.ApplicationFirewall/*"\n');
  const pf = createPacketFilter(machine);
  await pf.boot();
  const tool = pf.tools['pfctl'];
  const pipe = (input: string, ...args: readonly string[]): ToolResult => {
    const answer = tool?.({ ...toolCall('pfctl', args), stdin: Buffer.from(input) });
    if (answer === undefined || answer instanceof Promise) throw new TypeError('pfctl answers at once');
    return answer;
  };
  return {
    machine,
    pf,
    pipe,
    pfctl: (...args) => pipe('', ...args),
    reboot: async () => {
      await pf.shutdown();
      await pf.boot();
    },
  };
};
