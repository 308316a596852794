@echo off
rem Written by "steward install hooks", removed by "steward uninstall hooks".
rem Runs steward for a hook. Finds Node.js and steward even after an upgrade. Does nothing if either is missing.
setlocal EnableExtensions DisableDelayedExpansion
set "NODE_OPTIONS="
set "NODE_PATH="
@ENVIRONMENT@
rem If this script no longer exists, steward has been uninstalled and writes no files.
set "STEWARD_SHIM=%~f0"
set "node=@NODE@"
set "steward=@STEWARD@"
if not exist "%node%" call :find_node
if not exist "%steward%" call :find_steward
if not exist "%node%" exit /b 0
if not exist "%steward%" exit /b 0
if "%~1"=="--where" goto :where
if "%~1"=="statusline" goto :statusline
"%node%" "%steward%" hook %*
exit /b 0

:statusline
"%node%" "%steward%" %*
exit /b 0

:where
echo "%node%"
echo "%steward%"
exit /b 0

@FIND@
