/** The environment variable with the folder of the played Macs. */
export const playedHostsVariable = 'TARTAN_PLAYED_HOSTS';
