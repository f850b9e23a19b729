/** Something that can be wrong: answers what is, or nothing when all is well. To throw counts as wrong, too. */
export type Check = () => string | undefined | Promise<string | undefined>;

/** By name. Checks may come and go while a server asks them. */
export type Checks = Map<string, Check>;
