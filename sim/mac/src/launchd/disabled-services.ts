import type { Machine } from '../machine.ts';
import { putDict, readDict } from '../tools/state-file.ts';
import type { Domain } from './target.ts';

/** The flags that `launchctl disable` and `enable` set. They outlive the property list and reboots. */
export interface DisabledServices {
  isDisabled(domain: Domain, label: string): boolean;
  set(domain: Domain, label: string, disabled: boolean): void;
  all(domain: Domain): Readonly<Record<string, boolean>>;
}

const fileOf = (domain: Domain): string =>
  `/var/db/com.apple.xpc.launchd/disabled${domain.kind === 'system' ? '' : `.${domain.uid}`}.plist`;

export const createDisabledServices = (machine: Machine): DisabledServices => {
  const all = (domain: Domain): Record<string, boolean> => {
    const flags = Object.entries(readDict(machine.path(fileOf(domain))) ?? {});
    return Object.fromEntries(flags.map(([label, flag]) => [label, flag === true]));
  };
  return {
    all,
    isDisabled: (domain, label) => all(domain)[label] === true,
    set: (domain, label, disabled) => {
      putDict(machine, machine.path(fileOf(domain)), { ...all(domain), [label]: disabled });
    },
  };
};
