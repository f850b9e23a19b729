import { defineStep } from './step.ts';

/** Gives the Mac the name of its Node, for people. The agent gets its name as a flag, since DHCP may rename a Mac. */
export const hostname = defineStep({
  name: 'hostname',
  title: 'name the Mac after its Node',
  deadline: 30_000,
  intent: ({ nodeName }) => ({ nodeName }),
  environment: ({ nodeName }) => {
    if (!/[A-Za-z0-9]/.test(nodeName) || /\s/.test(nodeName)) {
      throw new TypeError(`${JSON.stringify(nodeName)} is no name for a Mac: letters, digits, dashes and dots only.`);
    }
    return { NODE_NAME: nodeName };
  },
});
