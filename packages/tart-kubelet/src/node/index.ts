/** The Mac as a Node. */
export { createNodeController, type NodeController, type NodeOptions } from './controller.ts';
export type {
  Disk,
  Facts,
  GuestDisk,
  HostFacts,
  LocalImage,
  MemoryLevel,
  Processes,
  Slots,
  SystemInfo,
} from './host-facts.ts';
export { macFacts, type MacFactsOptions, type TartFacts } from './mac/mac-facts.ts';
export { runCommand } from './mac/run.ts';
export { stampsFolder } from './stamps.ts';
export type { Wanted } from './wanted.ts';
