/** The build of the library without Redis has no types. */
declare module 'bottleneck/light.js' {
  export { default } from 'bottleneck';
}
