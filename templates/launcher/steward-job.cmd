@echo off
rem Written by "steward install jobs" and "steward install daemon", removed by "steward uninstall". Task Scheduler runs
rem this script with the name of a job. It finds Node.js and steward even after an upgrade, runs the job in the
rem environment it was installed in, and records the exit code for "--status".
setlocal EnableExtensions DisableDelayedExpansion
rem The paths below are encoded in UTF-8.
chcp 65001 >nul
set "NODE_OPTIONS="
set "NODE_PATH="
@ENVIRONMENT@
set "node=@NODE@"
set "steward=@STEWARD@"
set "records=@RECORDS@"
set "job=%~1"
rem Tells steward that this is a scheduled run, which must exit if the job is no longer installed.
set "STEWARD_JOB=%job%"
set "words="
@JOBS@
if not exist "%node%" call :find_node
if not exist "%steward%" call :find_steward
if "%job%"=="--where" goto :where
if not defined words exit /b 2
for %%F in ("%log%") do if exist "%log%" if %%~zF GTR 262144 move /y "%log%" "%log%.1" >nul
if not exist "%node%" goto :missing
if not exist "%steward%" goto :missing
"%node%" "%steward%" %words% <nul >>"%log%" 2>&1
set "code=%errorlevel%"
goto :end

:where
echo "%node%"
echo "%steward%"
exit /b 0

:missing
>>"%log%" echo Node.js or steward not found. Reinstall steward, then its jobs.
set "code=127"

:end
if not exist "%records%" exit /b %code%
>"%records%\%job%" echo %code%
exit /b %code%

@FIND@
