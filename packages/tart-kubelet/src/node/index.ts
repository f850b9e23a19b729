/** The Mac as a Node. */
export { createNodeController, type NodeController, type NodeOptions } from './controller.ts';
export type {
  DiskUsage,
  Facts,
  GuestDiskUsage,
  HostFacts,
  LocalImage,
  MemoryPressureLevel,
  ProcessCount,
  VmSlots,
  SystemInfo,
} from '../facts/host-facts.ts';
export { createMacFacts, type MacFactsOptions, type TartFacts } from '../facts/mac-facts.ts';
export { runCommand } from '../facts/run-command.ts';
export { stampsFolder } from './stamps.ts';
export type { NodeConfig } from './observe.ts';
