import { release } from 'node:os';
import type { SystemInfo } from '../host-facts.ts';
import type { Run } from './run.ts';

/** `"IOPlatformUUID" = "4C4C4544-…"`, among much else. */
const hardwareUUID = /"IOPlatformUUID"\s*=\s*"([^"]+)"/;

/** Which Mac this is and what runs on it. What cannot be had is empty; without the version of macOS it is nothing. */
export const systemInfo = async (run: Run, signal: AbortSignal): Promise<SystemInfo> => {
  const unlessMissing = (found: Promise<string>): Promise<string> => found.catch(() => '');
  const [version, build, bootID, hardware] = await Promise.all([
    run('sw_vers', ['-productVersion'], signal),
    run('sw_vers', ['-buildVersion'], signal),
    unlessMissing(run('sysctl', ['-n', 'kern.bootsessionuuid'], signal)),
    unlessMissing(run('ioreg', ['-rd1', '-c', 'IOPlatformExpertDevice'], signal)),
  ]);
  const uuid = hardwareUUID.exec(hardware)?.[1] ?? '';
  return {
    osImage: `macOS ${version} (${build})`,
    kernelVersion: release(),
    machineID: uuid,
    systemUUID: uuid,
    bootID,
  };
};
