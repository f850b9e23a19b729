/** A Mac mini that runs on this machine: real SSH, a real shell in its own folder, and as much of macOS as preparing a host needs. */
export type { Faults } from './faults.ts';
export type { Mac, MacOptions } from './mac.ts';
export { fromVirtualMachine, type Packet } from './pf/evaluate.ts';
export { startMac } from './start-mac.ts';
export { type StandIn, type StandInSoftware, standInSoftware, writeByContent } from './software/stand-in-software.ts';
export type {
  CommandBehaviour,
  FakeTartControls,
  GuestControls,
  HostControls,
  ImageControls,
  TartCommand,
} from './tart/controls.ts';
export {
  type FakeTart,
  hostilePrograms,
  installFakeTart,
  noSpaceTexts,
  type TartCall,
  type TartJournal,
} from './tart/fake-tart.ts';
