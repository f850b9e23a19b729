import type { Tool } from '../machine.ts';

/** reboot(8) and `shutdown -r now`: the Mac goes down under whoever asked. Other ways to go down are not played. */
export const createShutdown = (restart: () => void): Readonly<Record<'shutdown' | 'reboot', Tool>> => {
  const goDown = (name: string, asRoot: boolean) => {
    if (!asRoot)
      return { code: 1, stderr: `${name}: ${name === 'reboot' ? 'Operation not permitted' : 'NOT super-user'}\n` };
    restart();
    return { code: 0 };
  };
  return {
    shutdown: ({ args, asRoot }) =>
      args[0] === '-r' && args[1] === 'now'
        ? goDown('shutdown', asRoot)
        : { code: 1, stderr: 'usage: shutdown [-] [-h [-u] [-n] | -r [-n] | -s | -k] time [warning-message ...]\n' },
    reboot: ({ asRoot }) => goDown('reboot', asRoot),
  };
};
