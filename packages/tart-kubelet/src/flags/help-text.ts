import type { Flag } from './flag.ts';
import { everyFlag } from './flag-table.ts';

const initialOf = ({ initial }: Flag<unknown>): string =>
  typeof initial === 'string' || typeof initial === 'number' ? ` [${initial}]` : '';

const rowOf = (flag: Flag<unknown>): string => {
  const value = flag.isSwitch ? '' : `=${flag.example}`;
  const variable = flag.env === undefined ? '' : ` Variable: ${flag.env}.`;
  return `  --${flag.name}${value}\n      ${flag.help}${variable}${initialOf(flag)}\n`;
};

export const helpText = (): string =>
  `tart-kubelet makes this Mac a Kubernetes Node whose Pods are macOS virtual machines.\n\nFlags, each with an example:\n${everyFlag
    .map(rowOf)
    .join('')}  --version\n  --help\n`;
